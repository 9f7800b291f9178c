import { Menu } from '@base-ui/react/menu';
import type { ComponentProps, ReactElement, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';
import styles from './menu.module.css';

interface PopupMenuProps {
  /** The `Menu.Trigger`. */
  trigger: ReactElement;
  sideOffset?: number;
  children: ReactNode;
}

export function PopupMenu({ trigger, sideOffset = 4, children }: PopupMenuProps) {
  return (
    <Menu.Root>
      {trigger}
      <Menu.Portal>
        <Menu.Positioner positionMethod="fixed" className={styles.positioner} sideOffset={sideOffset} align="end">
          <Menu.Popup className={styles.popup}>{children}</Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

export const MenuButton = ({
  icon = 'more',
  label,
  title = 'More',
}: {
  icon?: IconName;
  label: string;
  title?: string;
}) => (
  <Menu.Trigger className="icon-button" aria-label={label} title={title}>
    <Icon name={icon} />
  </Menu.Trigger>
);

/** Aligns the text with that of checkbox items if there is no icon. */
export const MenuItem = ({ icon, children, ...props }: ComponentProps<typeof Menu.Item> & { icon?: IconName }) => (
  <Menu.Item className={styles.item} {...props}>
    {icon ? <Icon name={icon} size={14} /> : <span className={styles.indicator} />}
    {children}
  </Menu.Item>
);

export const MenuCheckbox = ({ children, ...props }: ComponentProps<typeof Menu.CheckboxItem>) => (
  <Menu.CheckboxItem className={styles.item} {...props}>
    <span className={styles.indicator}>
      <Menu.CheckboxItemIndicator>
        <Icon name="check" size={14} />
      </Menu.CheckboxItemIndicator>
    </span>
    {children}
  </Menu.CheckboxItem>
);

export const MenuSeparator = () => <Menu.Separator className={styles.separator} />;
